"""What every service process needs around its work: settings, logs, metrics, health, shutdown."""
