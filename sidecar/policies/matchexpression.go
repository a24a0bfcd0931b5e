// SPDX-License-Identifier: Apache-2.0

package policies

import (
	"fmt"
	"strings"
	"time"

	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/injection/policy"
	"github.com/podwright/podwright/sidecar/sidecarset"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// mostSets is how many SidecarSets an expression tells apart: the API server evaluates it for
// every pod.
const mostSets = 200

// MatchExpression is sidecarset.MatchExpression for a webhook that is served beside policies. It is
// false also of pods into which policies have injected all that may match, so that those are created
// while no webhook answers. An API server evaluates policies first, and the condition sees what they
// have made of the pod: in the annotation v1alpha1.SidecarSetInjectedListAnnotation. Whatever stands
// there, the webhook is asked about SidecarSets that no policy can inject. It is also asked about
// those whose policy depends on the revision that injectionStrategy names. With more than 200
// SidecarSets it is the expression of sidecarset. (SPC-10)
func MatchExpression(all []*v1alpha1.SidecarSet) string {
	var terms []string
	for _, set := range all {
		matches := sidecarset.MatchExpression([]*v1alpha1.SidecarSet{set})
		switch {
		case matches == "false":
		case compiles(set):
			terms = append(terms, fmt.Sprintf("!(%q in injected) && (%s)", set.Name, matches))
		default: // nothing but the webhook injects: what the author of a pod says of it proves nothing
			terms = append(terms, "("+matches+")")
		}
	}
	if len(terms) == 0 || len(terms) > mostSets {
		return sidecarset.MatchExpression(all)
	}
	// A list of one list, so that the annotation is read once.
	return fmt.Sprintf(`[object.?metadata.?annotations[?%q].orValue("").split(",")].exists(injected, %s)`, v1alpha1.SidecarSetInjectedListAnnotation, strings.Join(terms, " || "))
}

// compiles tells whether a policy injects what a SidecarSet has, as far as that follows from its spec.
func compiles(set *v1alpha1.SidecarSet) bool {
	if injection.NamesRevision(set) {
		return false
	}
	_, err := policy.Compile(policy.Input{SidecarSet: set, Created: time.Unix(1, 0)})
	return err == nil
}
