"""Authorization of remote servers (specification, basic/authorization); must not know what is sent."""
