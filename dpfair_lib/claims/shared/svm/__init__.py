"""Small tables and machines that the checks of support vector machines share."""
