"""Private rows by clusters: marginals of every column, then clusters that carry how the columns depend on each other."""
