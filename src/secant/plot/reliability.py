class ReliabilityDisplay: pass
