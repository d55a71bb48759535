"""Many streams at once, while documents are taken in: latency, throughput, errors and memory of a real server."""
