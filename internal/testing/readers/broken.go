// SPDX-License-Identifier: Apache-2.0

package readers

import (
	"errors"

	"github.com/podwright/podwright"
)

// Broken is a Reader whose cache of a resource cannot be read.
type Broken struct {
	podwright.Reader
	Resource podwright.Resource
}

// Get returns an object, unless it is one of that resource.
func (b Broken) Get(resource podwright.Resource, namespace, name string) (any, error) {
	if resource == b.Resource {
		return nil, errors.New("broken")
	}
	return b.Reader.Get(resource, namespace, name)
}

// List returns objects, unless they are of that resource.
func (b Broken) List(resource podwright.Resource, namespace string) ([]any, error) {
	if resource == b.Resource {
		return nil, errors.New("broken")
	}
	return b.Reader.List(resource, namespace)
}
