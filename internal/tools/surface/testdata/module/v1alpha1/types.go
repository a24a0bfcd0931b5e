package v1alpha1

type Unused struct{}
