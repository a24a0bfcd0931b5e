package e2e

// The reasons why no test here needs a right.
const (
	unanswered = "asked for when a write has no answer, which a test of faults may hit or not"
	collision  = "asked for when the name of a revision is taken"
	askedFor   = "the admission plugin OwnerReferencesPermissionEnforcement asks for it, and no request shows that"
	handEdited = "for what others have changed; the tests of the manager have that"
	renewed    = "certificates are renewed when they near their end"
	nodesStay  = "no node is deleted while the tests run"
	noPulls    = "no agent pulls images here: no job ends and no pull fails"
	wrongOrder = "told of pods with an order that cannot be kept"
	unseen     = "asked for when the cache does not show the pod"
	orphans    = "asked for when a StatefulSet takes over orphans"
	longAge    = "deleted when there are more than revisionHistoryLimit"
)

// unusedRights are the rights of the manager that no test here needs.
var unusedRights = map[string]string{
	": patch secrets":                                        renewed,
	": update mutatingwebhookconfigurations":                 handEdited,
	": update validatingwebhookconfigurations":               handEdited,
	"cloneset-controller: get controllerrevisions":           collision,
	"cloneset-controller: get persistentvolumeclaims":        unanswered,
	"cloneset-controller: get pods":                          unanswered,
	"cloneset-controller: update clonesets/finalizers":       askedFor,
	"container-launch-priority-controller: create events":    wrongOrder,
	"container-launch-priority-controller: patch events":     wrongOrder,
	"containerrecreaterequest-controller: get pods":          unseen,
	"imagepulljob-controller: delete imagepulljobs":          noPulls,
	"nodeimage-controller: create events":                    noPulls,
	"nodeimage-controller: patch events":                     noPulls,
	"nodeimage-controller: patch nodeimages/status":          noPulls,
	"nodeimage-controller: get nodes":                        nodesStay,
	"nodeimage-controller: delete nodeimages":                nodesStay,
	"statefulset-controller: get statefulsets":               orphans,
	"statefulset-controller: get pods":                       unanswered,
	"statefulset-controller: get persistentvolumeclaims":     unanswered,
	"statefulset-controller: delete persistentvolumeclaims":  askedFor,
	"statefulset-controller: get controllerrevisions":        collision,
	"statefulset-controller: delete controllerrevisions":     longAge,
	"statefulset-controller: update statefulsets/finalizers": askedFor,
}
