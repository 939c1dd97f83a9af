"""Any table: CSV, Parquet, Arrow, pandas, polars; opened, typed and counted."""
