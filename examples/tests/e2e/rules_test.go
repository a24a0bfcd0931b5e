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

// unusedRules are the RBAC rules of the manager that no test here needs.
var unusedRules = map[string]string{
	": get podunavailablebudgets":                                              "it is for a cache that is behind, and for conflicts, and here that depends on how soon a cache is there",
	"advancedcronjob-controller: update advancedcronjobs/finalizers":           askedFor,
	"broadcastjob-controller: get pods":                                        "it is for writes without an answer, and here every write has one",
	"broadcastjob-controller: update broadcastjobs/finalizers":                 askedFor,
	"cloneset-controller: update clonesets/finalizers":                         askedFor,
	"daemonset-controller: get pods":                                           "it is for writes without an answer and for names that are taken, and here there are none",
	"daemonset-controller: update daemonsets/finalizers":                       askedFor,
	"ephemeraljob-controller: get ephemeraljobs":                               "it is for writes without an answer, and here every write has one",
	"ephemeraljob-controller: get pods":                                        "it is for writes without an answer, and here every write has one",
	"ephemeraljob-controller: patch events":                                    onlyFailures,
	"persistentpodstate-controller: get persistentpodstates":                   "it is for writes without an answer, and here every write has one",
	"persistentpodstate-controller: get pods":                                  "it is for writes without an answer, and here every write has one",
	"persistentpodstate-controller: patch events":                              onlyFailures,
	"nodepodprobe-controller: get pods":                                        "it is for writes without an answer, and here every write has one",
	"podprobemarker-controller: create events":                                 onlyInvalid,
	"podprobemarker-controller: patch events":                                  onlyInvalid,
	"podunavailablebudget-controller: get poddisruptionbudgets":                "it is for writes without an answer, and here every write has one",
	"podunavailablebudget-controller: update podunavailablebudgets/finalizers": askedFor,
	"podunavailablebudget-controller: get pods":                                "it is for writes without an answer, and here every write has one",
	"podunavailablebudget-controller: get podunavailablebudgets":               "it is for writes without an answer, and here every write has one",
	"podunavailablebudget-controller: patch events":                            onlyFailures,
	"resourcedistribution-controller: patch events":                            onlyFailures,
	"resourcedistribution-controller: update resourcedistributions/finalizers": askedFor,
	"sidecarset-controller: get controllerrevisions":                           "it is for writes without an answer, and here every write has one",
	"sidecarset-controller: patch events":                                      onlyFailures,
	"sidecarset-policy-controller: patch events":                               onlyFailures,
	"sidecarterminator-controller: patch events":                               onlyFailures,
	"sidecarset-controller: list controllerrevisions":                          sharedRevisions,
	"sidecarset-controller: watch controllerrevisions":                         sharedRevisions,
	"sidecarset-policy-controller: list controllerrevisions":                   sharedRevisions,
	"sidecarset-policy-controller: watch controllerrevisions":                  sharedRevisions,
	"sidecarset-controller: get pods":                                          "it is for writes without an answer, and here every write has one",
	"sidecarset-controller: get sidecarsets":                                   "it is for writes without an answer, and here every write has one",
	"sidecarset-controller: update sidecarsets/finalizers":                     askedFor,
	"sidecarset-policy-controller: get mutatingadmissionpolicies":              "it is for writes without an answer, and here every write has one",
	"sidecarset-policy-controller: get mutatingadmissionpolicybindings":        "it is for writes without an answer, and here every write has one",
	"sidecarset-policy-controller: update sidecarsets/finalizers":              askedFor,
	"sidecarterminator-controller: get containerrecreaterequests":              "it is for writes without an answer, and here every write has one",
	"sidecarterminator-controller: get pods":                                   "it is for writes without an answer, and here every write has one",
	"sidecarterminator-controller: update pods/finalizers":                     askedFor,
	"statefulset-controller: delete persistentvolumeclaims":                    askedFor,
	"statefulset-controller: update statefulsets/finalizers":                   askedFor,
	"uniteddeployment-controller: get pods":                                    "it is for writes without an answer, and here every write has one",
	"uniteddeployment-controller: patch events":                                onlyFailures,
	"uniteddeployment-controller: update uniteddeployments/finalizers":         askedFor,
	"workloadspread-controller: get pods":                                      "it is for writes without an answer, and here every write has one",
	"workloadspread-controller: get workloadspreads":                           "it is for writes without an answer, and here every write has one",
	"workloadspread-controller: patch events":                                  onlyFailures,
}
