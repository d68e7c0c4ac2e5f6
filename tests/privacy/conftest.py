from hypothesis import settings

# the first example pays for an import, and machines are shared: time is no verdict here
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")
