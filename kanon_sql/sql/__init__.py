"""SQL: templates -> syntax tree -> portable-subset check -> dialect."""
