// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"

	"github.com/podwright/podwright"
)

// Lag is the error of a reconcile that finds with the API server what a cache lacks. Once the cache shows it, an event brings the next
// reconcile. Until then the back-off of errors does, ever more rarely: each look costs a request, and a cache that is restricted
// never shows it. (CT-3)
type Lag struct {
	Resource podwright.Resource
	Name     string
}

func (l *Lag) Error() string {
	return fmt.Sprintf("%s %s exists, and the cache of %[1]s lacks it: is it behind, or does its informer select by labels, fields or namespace? "+
		"Share one that holds all %[1]s", l.Resource, l.Name)
}
