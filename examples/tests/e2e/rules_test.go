// SPDX-License-Identifier: Apache-2.0

package e2e

// askedFor is why no test here needs some rules.
const askedFor = "the admission plugin OwnerReferencesPermissionEnforcement asks for it within the API server, and no request shows that"

// sharedRevisions is why no controller lists the revisions of one namespace.
const sharedRevisions = "the workloads' cache of revisions, of all namespaces, holds them too"

// onlyFailures is why events are not recorded, or not a second time.
const onlyFailures = "it is for what fails, or fails again, and here that depends on how soon a pod, a node or a cache is there"

// onlyInvalid is why events are not recorded.
const onlyInvalid = "it is for objects from before admission, and here there are none"

// onlyUnanswered is why an object is not got.
const onlyUnanswered = "it is for writes without an answer, and here every write has one"

// unneeded adds to unusedRules. The test file of a kind calls it.
func unneeded(controller, reason string, rules ...string) bool {
	for _, rule := range rules {
		unusedRules[controller+": "+rule] = reason
	}
	return true
}

// unusedRules are the RBAC rules of the manager that no test here needs, with those that unneeded adds.
var unusedRules = map[string]string{
	": get podunavailablebudgets":                                              "it is for a cache that is behind, and for conflicts, and here that depends on how soon a cache is there",
	"advancedcronjob-controller: update advancedcronjobs/finalizers":           askedFor,
	"broadcastjob-controller: get pods":                                        onlyUnanswered,
	"broadcastjob-controller: update broadcastjobs/finalizers":                 askedFor,
	"cloneset-controller: update clonesets/finalizers":                         askedFor,
	"daemonset-controller: get pods":                                           "it is for writes without an answer and for names that are taken, and here there are none",
	"daemonset-controller: update daemonsets/finalizers":                       askedFor,
	"persistentpodstate-controller: get persistentpodstates":                   onlyUnanswered,
	"persistentpodstate-controller: get pods":                                  onlyUnanswered,
	"persistentpodstate-controller: patch events":                              onlyFailures,
	"nodepodprobe-controller: get pods":                                        onlyUnanswered,
	"podprobemarker-controller: create events":                                 onlyInvalid,
	"podprobemarker-controller: patch events":                                  onlyInvalid,
	"podunavailablebudget-controller: get poddisruptionbudgets":                onlyUnanswered,
	"podunavailablebudget-controller: update podunavailablebudgets/finalizers": askedFor,
	"podunavailablebudget-controller: get pods":                                onlyUnanswered,
	"podunavailablebudget-controller: get podunavailablebudgets":               onlyUnanswered,
	"podunavailablebudget-controller: patch events":                            onlyFailures,
	"resourcedistribution-controller: patch events":                            onlyFailures,
	"resourcedistribution-controller: update resourcedistributions/finalizers": askedFor,
	"sidecarset-controller: get controllerrevisions":                           onlyUnanswered,
	"sidecarset-controller: patch events":                                      onlyFailures,
	"sidecarset-policy-controller: patch events":                               onlyFailures,
	"sidecarterminator-controller: patch events":                               onlyFailures,
	"sidecarset-controller: list controllerrevisions":                          sharedRevisions,
	"sidecarset-controller: watch controllerrevisions":                         sharedRevisions,
	"sidecarset-policy-controller: list controllerrevisions":                   sharedRevisions,
	"sidecarset-policy-controller: watch controllerrevisions":                  sharedRevisions,
	"sidecarset-controller: get pods":                                          onlyUnanswered,
	"sidecarset-controller: get sidecarsets":                                   onlyUnanswered,
	"sidecarset-controller: update sidecarsets/finalizers":                     askedFor,
	"sidecarset-policy-controller: get mutatingadmissionpolicies":              onlyUnanswered,
	"sidecarset-policy-controller: get mutatingadmissionpolicybindings":        onlyUnanswered,
	"sidecarset-policy-controller: update sidecarsets/finalizers":              askedFor,
	"sidecarterminator-controller: get containerrecreaterequests":              onlyUnanswered,
	"sidecarterminator-controller: get pods":                                   onlyUnanswered,
	"sidecarterminator-controller: update pods/finalizers":                     askedFor,
	"statefulset-controller: delete persistentvolumeclaims":                    askedFor,
	"statefulset-controller: update statefulsets/finalizers":                   askedFor,
	"uniteddeployment-controller: get pods":                                    onlyUnanswered,
	"uniteddeployment-controller: patch events":                                onlyFailures,
	"uniteddeployment-controller: update uniteddeployments/finalizers":         askedFor,
	"workloadspread-controller: get pods":                                      onlyUnanswered,
	"workloadspread-controller: get workloadspreads":                           onlyUnanswered,
	"workloadspread-controller: patch events":                                  onlyFailures,
}
