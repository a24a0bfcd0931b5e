// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// Made makes what the suite drives, by options and the rules that they take.
func Made[O, S, P any](of fixture.Package[O, S, P], o O, rules []rbacv1.PolicyRule) (Controller, error) {
	controller, err := of.New(o)
	if err != nil {
		return Controller{}, err
	}
	return Controller{Memory: controller, Rules: rules, Run: controller.Run,
		Next: func(key types.NamespacedName) (string, error) { return of.Unfinished(controller, key) }}, nil
}
