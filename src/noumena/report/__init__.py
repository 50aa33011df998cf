"""Run folders -> tables and a page of pictures. Reads what runs left behind, and recomputes nothing."""
