// SPDX-License-Identifier: Apache-2.0

package revision_test

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/podwright/podwright/inplace/revision"
)

func TestChangesOfNothing(t *testing.T) {
	var c revision.Changes
	none, history := slices.Values([]string(nil)), []*appsv1.ControllerRevision{numbered("web-1", 1, "one"), nil}
	if c.Prune(history, new(int32), none); c.Any() {
		t.Errorf("without an update revision these are deleted: %s", names(c.Delete))
	}
	if c.String() != "no revision" || (revision.Decision{}).String() != "no revision" {
		t.Errorf("no changes are %q, and no decision is %q", c, revision.Decision{})
	}
	if _, err := revision.Next(nil, nil); err == nil {
		t.Error("nothing was taken as the wanted revision")
	}
	for _, wanted := range []*appsv1.ControllerRevision{nil, stored("bad", "{")} {
		if c, err := revision.Plan(history, wanted, "", none); err == nil || c.Any() || c.Update != nil {
			t.Errorf("a wanted revision that cannot be read gives %s and error %v", c, err)
		}
	}
	if c.Adopt = history[:1]; !c.Any() {
		t.Error("an adoption is no change")
	}
	two := numbered("web-2", 2, "two")
	c = revision.Changes{Current: two, Update: two, Adopt: []*appsv1.ControllerRevision{two}}
	c.Prune(history, new(int32), none)
	if want := "update revision web-2\nadopt revision web-2\ndelete revision web-1"; c.String() != want {
		t.Errorf("want\n%s\ngot\n%s", want, c)
	}
	c.Prune(make([]*appsv1.ControllerRevision, 10), nil, func(func(string) bool) { t.Error("a short history asks for all pods") })
}
