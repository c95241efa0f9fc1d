"""The rules, pure: values in, values out; no disk, no clock, no log, no configuration files."""
