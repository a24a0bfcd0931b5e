// SPDX-License-Identifier: Apache-2.0

package launchpriority

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
)

// Describe returns what a program takes that runs the controller of launch priorities, for package manager: the options are those of New.
func Describe(o Options) podwright.Kind {
	return controller.Describe(component, corev1.SchemeGroupVersion.WithResource("pods"), o.Namespace, o, New, Rules)
}
