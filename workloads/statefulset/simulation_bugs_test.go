package statefulset

import (
	"k8s.io/client-go/rest"
)

type bug struct {
	config     func(*rest.Config)
	options    func(*Options)
	reconciler func(*Reconciler)
}
