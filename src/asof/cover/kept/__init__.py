"""What is kept between runs in `derived/`: saved covers, shingles, ranks, pairs and proofs."""
