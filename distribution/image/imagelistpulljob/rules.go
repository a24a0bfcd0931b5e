// SPDX-License-Identifier: Apache-2.0

package imagelistpulljob

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/manifests"
)

// Rules returns the RBAC rules that a Controller with these options needs, and none beyond. Reading
// shared informers counts, whether or not the Controller runs them. Recording events counts if there is a Recorder. Every call
// returns new rules.
//
// The options need not be complete, and no client of them is asked anything, so
// that a manifest can be written without a cluster. A Role is enough if Options.Namespace is set.
func Rules(o Options) []rbacv1.PolicyRule {
	rules := []rbacv1.PolicyRule{
		manifests.Rule(v1alpha1.GroupName, "imagelistpulljobs", "list watch delete"),
		manifests.Rule(v1alpha1.GroupName, "imagelistpulljobs/status", "patch"),
		// If OwnerReferencesPermissionEnforcement is on, as in OpenShift, this
		// lets an ImagePullJob block the deletion of its owner.
		manifests.Rule(v1alpha1.GroupName, "imagelistpulljobs/finalizers", "update"),
		manifests.Rule(v1alpha1.GroupName, "imagepulljobs", "get list watch create patch delete"),
	}
	if o.Recorder != nil || o.Recorders != nil {
		rules = append(rules, manifests.Events())
	}
	return rules
}
