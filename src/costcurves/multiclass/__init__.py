"""The same questions for k classes: BCost, BDeltaCost, several classifiers, class frequencies that vary."""
