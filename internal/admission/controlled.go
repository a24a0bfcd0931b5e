// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Controlled are the new pods that kinds of a namespace control.
type Controlled struct {
	Namespace string
	Kind      schema.GroupKind
}

// MatchControlled returns an expression in the Common Expression Language of matchConditions in webhook configurations. It
// is true of the new pods that are so controlled, and of some others, as groups are not compared. It is true of none whose
// controllers are of the group that is left out, unless that is empty. Entries without a kind are left out. Of none it
// is false.
func MatchControlled(all []Controlled, leftOut string) string {
	var values []string
	for _, c := range all {
		if c.Kind.Kind != "" && (leftOut == "" || c.Kind.Group != leftOut) {
			values = append(values, fmt.Sprintf("'%s/%s'", strings.Map(wordsOnly, c.Namespace), strings.Map(wordsOnly, c.Kind.Kind)))
		}
	}
	if len(values) == 0 {
		return "false"
	}
	slices.Sort(values)
	without := ""
	if leftOut != "" {
		without = " && !o.apiVersion.startsWith('" + leftOut + "/')"
	}
	return "has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(o, has(o.controller) && o.controller" + without +
		" && (request.namespace + '/' + o.kind) in [" + strings.Join(slices.Compact(values), ", ") + "])"
}

// wordsOnly keeps what the names of namespaces and kinds consist of: what else stands there must not end the text.
func wordsOnly(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
		return r
	}
	return -1
}
