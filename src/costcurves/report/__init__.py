"""The interactive report: one self-contained page that begins with the answer and lets readers change the condition."""
