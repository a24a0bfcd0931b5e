// SPDX-License-Identifier: Apache-2.0

package revision_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/podwright/podwright/inplace/revision"
)

// outline shows changes as "field=name", in the order of the fields.
func outline(c *revision.Changes) string {
	var out []string
	show := func(field string, revisions ...*appsv1.ControllerRevision) {
		for _, r := range revisions {
			if r != nil {
				out = append(out, field+"="+r.Name)
			}
		}
	}
	show("current", c.Current)
	if c.Missing != "" {
		out = append(out, "missing="+c.Missing)
	}
	show("update", c.Update)
	show("adopt", c.Adopt...)
	show("create", c.Create)
	if show("raise", c.Raise); c.Raise != nil {
		out = append(out, fmt.Sprint("to=", c.RaiseTo))
	}
	show("delete", c.Delete...)
	return strings.Join(out, " ")
}

func TestPlan(t *testing.T) {
	one, two := numbered("web-1", 1, "one"), numbered("web-2", 2, "two")
	history := []*appsv1.ControllerRevision{two, one}
	for _, tt := range []struct {
		name    string
		history []*appsv1.ControllerRevision
		image   string
		current string
		pods    []string
		want    string
	}{
		{"CS-CR5: the first revision is created", nil, "one", "", nil, "current=wanted update=wanted create=wanted"},
		{"CS-CR5: nothing is rolled out", history, "two", "web-2", nil, "current=web-2 update=web-2"},
		{"CS-CR5: an update under way", history, "two", "web-1", nil, "current=web-1 update=web-2"},
		{"CS-CR5: an update begins", history, "three", "web-2", nil, "current=web-2 update=wanted create=wanted"},
		{"CS-CR5: a rollback", history, "one", "web-2", nil, "current=web-2 update=web-1 raise=web-1 to=3"},
		{"CS-CR5: a rollback where the status names the revision already", history, "one", "web-1", nil, "current=web-1 update=web-1 raise=web-1 to=3"},
		{"CS-CR5: pods of another revision, which the status does not name", history, "one", "web-1", []string{"web-2"}, "current=web-1 update=web-1 raise=web-1 to=3"},
		{"CS-CR5: a younger one without a controller that holds the same", append(history, numbered("web-3", 2, "two")), "two", "web-2", []string{"web-2"},
			"current=web-2 update=web-2"},
		{"CS-CR5: and one of the same number with a controller", append(history, own(numbered("web-3", 2, "two")), numbered("web-4", 2, "two")), "two", "web-2", []string{"web-2"},
			"current=web-2 update=web-2"},
		{"CS-CR5: one of a higher number with a controller counts", append(history, own(numbered("web-3", 3, "two"))), "two", "web-2", []string{"web-2"},
			"current=web-2 update=web-3"},
		{"CS-CR5: the same where pods have it", append(history, numbered("web-3", 2, "two")), "two", "web-2", []string{"web-2", "web-3"}, "current=web-2 update=web-3"},
		{"a current revision that is gone", history, "two", "web-0", nil, "current=web-2 missing=web-0 update=web-2"},
		{"a status that names none", history, "two", "", nil, "current=web-2 update=web-2"},
		{"a current revision that is gone, and pods of an older one", history, "three", "web-0", []string{"web-1"}, "current=web-1 missing=web-0 update=wanted create=wanted"},
		{"an update under way before the first status", history, "two", "", []string{"web-2", "web-1"}, "current=web-1 update=web-2"},
		{"an update begins before the first status", history, "three", "", []string{"1", "2", ""}, "current=web-2 update=wanted create=wanted"},
		{"pods of the update revision before the first status", history, "two", "", []string{"web-2"}, "current=web-2 update=web-2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := names(tt.history)
			c, err := revision.Plan(tt.history, numbered("wanted", revision.NextNumber(tt.history), tt.image), tt.current, slices.Values(tt.pods))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, outline(&c)); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
			if c.Any() != (c.Create != nil || c.Raise != nil) {
				t.Errorf("Any is %v", c.Any())
			}
			if (c.Current == c.Update) != (c.Current.Name == c.Update.Name) {
				t.Error("current and update are two versions of one revision")
			}
			if names(tt.history) != before || one.Revision != 1 {
				t.Error("the history was changed")
			}
		})
	}
	none := slices.Values([]string(nil))
	c, err := revision.Plan([]*appsv1.ControllerRevision{nil, stored("bad", "{")}, numbered("wanted", 2, "one"), "bad", none)
	if got := outline(&c); err != nil || got != "current=wanted missing=bad update=wanted create=wanted" {
		t.Errorf("a history that cannot be read gives %s and error %v", got, err)
	}
	for _, wanted := range []*appsv1.ControllerRevision{nil, stored("bad", "{")} {
		if c, err := revision.Plan(history, wanted, "", none); err == nil || c.Any() || c.Update != nil {
			t.Errorf("a wanted revision that cannot be read gives %s and error %v", outline(&c), err)
		}
	}
	c.Prune(append(history, nil), new(int32), none)
	if got := outline(&c); got != "current=wanted missing=bad update=wanted create=wanted delete=web-1 delete=web-2" {
		t.Errorf("a history with nothing in it gives %s", got)
	}
	if c = (revision.Changes{}); c.Any() {
		t.Error("no changes at all are some")
	}
	if c.Prune(history, new(int32), none); c.Any() {
		t.Errorf("without an update revision these are deleted: %s", names(c.Delete))
	}
}

func TestPrune(t *testing.T) {
	var history []*appsv1.ControllerRevision
	for i := range 14 {
		history = append(history, numbered(fmt.Sprintf("web-%c", 'a'+i), int64(i+1), fmt.Sprint(i)))
	}
	current, update := history[0], history[13] // web-a and web-n
	for _, tt := range []struct {
		name  string
		limit *int32
		pods  []string
		want  string
	}{
		{"CS-CR7: 10 by default", nil, nil, "web-b web-c"},
		{"CS-CR7: those that pods come from do not count", nil, []string{"web-b"}, "web-c"},
		{"CS-CR7: a label may be the hash alone", nil, []string{"b", "c"}, ""},
		{"CS-CR7: labels of no revision, and none, protect nothing", nil, []string{"", "db-z", "web"}, "web-b web-c"},
		{"CS-CR7: the limit", new(int32(11)), nil, "web-b"},
		{"CS-CR7: a limit that is not reached", new(int32(14)), nil, ""},
		{"CS-CR7: a limit of 0 retains what is in use", new(int32(0)), []string{"web-m"}, "web-b web-c web-d web-e web-f web-g web-h web-i web-j web-k web-l"},
		{"CS-CR7: a negative limit is 0", new(int32(-3)), []string{"web-m"}, "web-b web-c web-d web-e web-f web-g web-h web-i web-j web-k web-l"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := revision.Changes{Current: current, Update: update}
			c.Prune(history, tt.limit, slices.Values(tt.pods))
			if diff := cmp.Diff(tt.want, names(c.Delete)); diff != "" {
				t.Errorf("to delete (-want +got):\n%s", diff)
			}
			if c.Any() != (tt.want != "") {
				t.Errorf("Any is %v", c.Any())
			}
		})
	}
	c := revision.Changes{Current: current, Update: update}
	c.Prune(history[:10], nil, func(func(string) bool) { t.Error("a short history asks for all pods") })
	if len(c.Delete) > 0 {
		t.Errorf("a short history loses %s", names(c.Delete))
	}
}

func TestAny(t *testing.T) {
	r := numbered("web-1", 1, "one")
	for _, tt := range []struct {
		name    string
		changes revision.Changes
		want    bool
	}{
		{"nothing", revision.Changes{}, false},
		{"revisions that stand", revision.Changes{Current: r, Update: r}, false},
		{"one to create", revision.Changes{Create: r}, true},
		{"one to raise", revision.Changes{Raise: r, RaiseTo: 2}, true},
		{"one to adopt", revision.Changes{Adopt: []*appsv1.ControllerRevision{r}}, true},
		{"one to delete", revision.Changes{Delete: []*appsv1.ControllerRevision{r}}, true},
	} {
		if got := tt.changes.Any(); got != tt.want {
			t.Errorf("%s: Any is %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestChangesString(t *testing.T) {
	one, two := numbered("web-1", 1, "one"), numbered("web-2", 2, "two")
	for want, c := range map[string]revision.Changes{
		"no revision":           {},
		"update revision web-2": {Current: two, Update: two},
		"current revision web-1, update revision web-2":                           {Current: one, Update: two},
		"update revision web-2 (the history lacks web-0)":                         {Current: two, Update: two, Missing: "web-0"},
		"update revision web-2\nadopt revision web-1\ncreate revision web-2 (2)":  {Current: two, Update: two, Adopt: []*appsv1.ControllerRevision{one}, Create: two},
		"update revision web-1\nraise revision web-1 to 3\ndelete revision web-2": {Current: one, Update: one, Raise: one, RaiseTo: 3, Delete: []*appsv1.ControllerRevision{two}},
	} {
		if got := c.String(); got != want {
			t.Errorf("want\n%s\ngot\n%s", want, got)
		}
	}
	if got := (revision.Decision{}).String(); got != "no revision" {
		t.Errorf("a decision that is none: %q", got)
	}
}
