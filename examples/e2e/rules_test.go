// SPDX-License-Identifier: Apache-2.0

package e2e

// askedFor is why no test here needs some rules.
const askedFor = "the admission plugin OwnerReferencesPermissionEnforcement asks for it within the API server, and no request shows that"

// unusedRules are the RBAC rules of the manager that no test here needs.
var unusedRules = map[string]string{
	"cloneset-controller: update clonesets/finalizers":       askedFor,
	"statefulset-controller: delete persistentvolumeclaims":  askedFor,
	"statefulset-controller: update statefulsets/finalizers": askedFor,
}
