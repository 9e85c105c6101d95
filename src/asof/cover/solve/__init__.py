"""The smallest set that covers all: reductions, exact solvers, greedy covers with a proven gap."""
