"""Problems with known answers, and the pages and records of what symplex makes of them."""
