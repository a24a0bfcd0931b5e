// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// patience is how long an object may take to be deleted before it counts as stuck.
const patience = time.Minute

// finalizers says which objects hang when they are deleted, and who ends that.
func (c *check) finalizers() {
	for _, k := range kinds() {
		for _, object := range c.Objects[k.Kind] {
			for _, finalizer := range object.GetFinalizers() {
				if strings.Contains(finalizer, "kruise.io/") {
					c.finalizer(object, finalizer)
				}
			}
		}
	}
}

func (c *check) finalizer(object *unstructured.Unstructured, finalizer string) {
	rule, deleted := takenAway[finalizer], object.GetDeletionTimestamp()
	switch {
	case rule == "" || rule == "IMG-1.15" && object.GetKind() != pulls:
		c.answer(title(object), "KC-29", "podwright does not know its finalizer "+finalizer+": a deletion would never end.",
			"Take it away when OpenKruise has stopped.")
	case deleted != nil && c.Now.Sub(deleted.Time) > patience:
		c.stuck(title(object), rule, "It is being deleted since "+deleted.UTC().Format(time.RFC3339)+", and its finalizer "+finalizer+" holds it.",
			"Nothing: podwright takes the finalizer away.")
	case object.GetKind() == pulls && has(object.Object, "status", "completionTime"):
		c.happens(title(object), rule, "It is over: podwright takes its finalizer away.")
	}
}
