"""Tables that may be published: specialization, local recoding, guards, recodings."""
