"""The same covers on Spark, for collections that one machine cannot hold (Paudel 2013, section 3).

The stages are the paper's jobs: `documents` reads and shingles, `candidates` and `edges` build the
coverage graph (3.2), `components` takes it apart (3.3), `covers` solves each part (3.4); `run` puts
them together, and `submit` is what spark-submit takes. Whatever decides the answer is the code of
the local engine, run inside Spark's tasks: shingles, conditions, thresholds, solver.
"""
