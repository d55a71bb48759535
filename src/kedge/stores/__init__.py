"""Where knowledge is kept: ports, filters, and a folder per port with a vendor each."""
