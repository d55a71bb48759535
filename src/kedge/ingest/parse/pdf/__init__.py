"""PDF files and pictures of pages to text and blocks, by where the words stand on them."""
