"""What passes over loops share: bounds, trips, predicates, stores."""
