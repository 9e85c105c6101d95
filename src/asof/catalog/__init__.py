"""FIND: captures by URL and time, their validity, and indexes in the formats of others."""
