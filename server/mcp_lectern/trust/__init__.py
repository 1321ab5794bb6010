"""Which entries a person has approved; knows fingerprints, starts nothing."""
