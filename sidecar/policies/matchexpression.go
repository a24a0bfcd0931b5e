// SPDX-License-Identifier: Apache-2.0

package policies

import (
	"fmt"
	"strings"

	"github.com/podwright/podwright/sidecar/sidecarset"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// mostSets is how many SidecarSets an expression tells apart: the API server evaluates it for
// every pod.
const mostSets = 200

// MatchExpression is sidecarset.MatchExpression for a webhook that is served beside policies:
// it is false also of pods into which policies have injected all that may match, so that those
// are created while nobody answers the webhook. An API server evaluates policies first, and the
// condition sees what they have made of the pod: in the annotation
// v1alpha1.SidecarSetInjectedListAnnotation. With more than 200 SidecarSets it is the
// expression of sidecarset. (SPC-10)
func MatchExpression(all []*v1alpha1.SidecarSet) string {
	var terms []string
	for _, set := range all {
		matches := sidecarset.MatchExpression([]*v1alpha1.SidecarSet{set})
		if matches != "false" {
			terms = append(terms, fmt.Sprintf("!(%q in injected) && (%s)", set.Name, matches))
		}
	}
	if len(terms) == 0 || len(terms) > mostSets {
		return sidecarset.MatchExpression(all)
	}
	// A list of one list, so that the annotation is read once.
	return fmt.Sprintf(`[object.?metadata.?annotations[?%q].orValue("").split(",")].exists(injected, %s)`, v1alpha1.SidecarSetInjectedListAnnotation, strings.Join(terms, " || "))
}
