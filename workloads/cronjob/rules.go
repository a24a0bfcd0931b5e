// SPDX-License-Identifier: Apache-2.0

package cronjob

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Rules returns the RBAC rules that a Controller with these options needs, and
// none beyond. Reading shared informers counts, also those that the caller runs. Recording
// events counts if there is a Recorder. Every call returns new rules.
//
// The options need not be complete, and no client of them is asked anything, so
// that a manifest can be written without a cluster. A Role is enough if
// Options.Namespace is set.
func Rules(o Options) []rbacv1.PolicyRule {
	rules := []rbacv1.PolicyRule{
		// get and list find out what became of a write without an answer.
		manifests.Rule(v1alpha1.GroupName, "advancedcronjobs", "get list watch patch"),
		manifests.Rule(v1alpha1.GroupName, "advancedcronjobs/status", "patch"),
		// If OwnerReferencesPermissionEnforcement is on, as in OpenShift, this
		// lets a job block the deletion of its owner.
		manifests.Rule(v1alpha1.GroupName, "advancedcronjobs/finalizers", "update"),
		// patch gives a job its time to live that was refused before.
		manifests.Rule("batch", "jobs", "get list watch create patch delete"),
	}
	if !o.NoBroadcastJobs {
		rules = append(rules, manifests.Rule(v1alpha1.GroupName, "broadcastjobs", "get list watch create patch delete"))
	}
	if o.Distribution != nil {
		rules = append(rules, manifests.Rule(v1alpha1.GroupName, "imagelistpulljobs", "get list watch create patch delete"))
	}
	if o.Recorder != nil || o.Recorders != nil {
		rules = append(rules, manifests.Events())
	}
	return rules
}
