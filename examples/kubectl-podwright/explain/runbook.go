// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// runbook is the page that says what to do about each alert, under the name of the alert.
const runbook = "https://github.com/podwright/podwright/blob/main/examples/monitoring/RUNBOOK.md#"

// sections are those of what holds up objects of any kind, by code.
var sections = map[string]string{
	"ManagerAbsent": "managerabsent", "NotObserved": "reconcileerrors", "PodUnavailableBudget": "budgetexhausted",
	"RecreateRequest": "containerrecreaterequestpending", "AgentMissing": "containerrecreaterequestpending",
}

// sectionsOf are those of what holds up an object of a kind otherwise. Of other kinds it is that of all.
var sectionsOf = map[string]string{
	"CloneSet": "clonesetrolloutstuck", "StatefulSet": "statefulsetrolloutstuck", "DaemonSet": "daemonsetrolloutstuck",
	"PodUnavailableBudget": "budgetexhausted", "ImagePullJob": "imagepulljobfailing", "ImageListPullJob": "imagelistpulljobfailing", "NodeImage": "nodeimagefailing",
	"ContainerRecreateRequest": "containerrecreaterequestpending", "WorkloadSpread": "subsetheldup",
}

// withRunbook names the section of the runbook for each. What users have asked for, such as a partition, has none. (KC-25)
func withRunbook(kind schema.GroupKind, all []Blocker) []Blocker {
	otherwise := ""
	if strings.HasSuffix(kind.Group, ".kruise.io") { // alerts are not about the kinds of Kubernetes
		otherwise = cmp.Or(sectionsOf[kind.Kind], "heldup")
	}
	for i := range all {
		if section := cmp.Or(sections[all[i].Code], otherwise); section != "" {
			all[i].Runbook = runbook + section
		}
	}
	return all
}
