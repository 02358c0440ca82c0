"""The interactive report: one self-contained page that answers first and lets the reader move the condition."""
