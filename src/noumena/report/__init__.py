"""Run folders -> tables. Reads what runs left behind, and recomputes nothing."""
