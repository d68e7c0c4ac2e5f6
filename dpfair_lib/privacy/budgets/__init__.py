"""What several releases cost together: fixed beforehand, or chosen one after another within a budget."""
