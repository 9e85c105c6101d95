"""Files by other tools: ARC, TREC-Web, WACZ, and damaged files of any of them."""
