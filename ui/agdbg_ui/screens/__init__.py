"""What lies over the main screen: help, explanation, export, quit."""
