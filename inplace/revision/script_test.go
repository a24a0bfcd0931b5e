// SPDX-License-Identifier: Apache-2.0

package revision_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/internal/testing/patches"
)

// TestHistories shows in testdata/histories.txt which revision is used, and what is done with those before it.
func TestHistories(t *testing.T) {
	datadriven.RunTest(t, "testdata/histories.txt", func(t *testing.T, d *datadriven.TestData) string {
		history := historyOf(t, d.Input)
		before := slices.Clone(history)
		defer func() {
			if !slices.Equal(history, before) {
				t.Errorf("%s: the history was reordered", d.Pos)
			}
		}()
		switch d.Cmd {
		case "prune":
			return prune(t, d)
		case "surplus":
			limit, live := limitOf(t, d), values(d, "live")
			return names(revision.Surplus(history, func(name string) bool { return slices.Contains(live, name) }, *limit)) + "\n"
		}
		return plan(t, d, history)
	})
}

// historyOf reads revisions of a line each.
func historyOf(t *testing.T, text string) (history []*appsv1.ControllerRevision) {
	t.Helper()
	for line := range strings.Lines(text) {
		words := append(strings.Fields(line), "", "")
		if words[0] == "nil" {
			history = append(history, nil)
			continue
		}
		r := numbered(words[0], int64(patches.Number(t, words[1])), words[2])
		switch words[3] {
		case "controlled":
			r = own(r)
		case "otherwise":
			r.Data.Raw = []byte(strings.Replace(string(r.Data.Raw), `{"name"`, `{"resources":{},"name"`, 1))
		}
		history = append(history, r)
	}
	return history
}

// values are those of an argument of a script; "" is an empty one.
func values(d *datadriven.TestData, key string) (all []string) {
	for _, arg := range d.CmdArgs {
		if arg.Key == key {
			for _, value := range arg.Vals {
				all = append(all, strings.Trim(value, `"`))
			}
		}
	}
	return all
}

func limitOf(t *testing.T, d *datadriven.TestData) *int32 {
	t.Helper()
	if !d.HasArg("limit") {
		return nil
	}
	var limit int
	d.ScanArgs(t, "limit", &limit)
	return new(int32(limit))
}

// plan shows the decision of Next and the changes of Plan.
func plan(t *testing.T, d *datadriven.TestData, history []*appsv1.ControllerRevision) string {
	t.Helper()
	image, current := values(d, "wanted")[0], strings.Join(values(d, "current"), "")
	wanted := numbered("wanted", revision.NextNumber(history), image)
	next, err := revision.Next(history, wanted)
	if err != nil {
		return err.Error() + "\n"
	}
	if template, err := revision.Template(next.Revision.Data.Raw); err != nil || template.Spec.Containers[0].Image != image {
		t.Errorf("%s: the revision holds %v, error %v, want image %s", d.Pos, template, err, image)
	}
	c, err := revision.Plan(history, wanted, current, slices.Values(values(d, "pods")))
	if err != nil {
		t.Fatal(err)
	}
	if c.Any() != (c.Create != nil || c.Raise != nil) {
		t.Errorf("%s: Any is %v", d.Pos, c.Any())
	}
	if (c.Current == c.Update) != (c.Current.Name == c.Update.Name) {
		t.Errorf("%s: current and update are two versions of one revision", d.Pos)
	}
	for i, r := range historyOf(t, d.Input) {
		if r != nil && r.Revision != history[i].Revision {
			t.Errorf("%s: the stored revision was changed to number %d", d.Pos, history[i].Revision)
		}
	}
	return fmt.Sprintf("%s\n%s\n", next, c)
}

// prune shows which of 14 revisions are deleted. The first is the current one, and the last the update revision.
func prune(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	var history []*appsv1.ControllerRevision
	for i := range 14 {
		history = append(history, numbered(fmt.Sprintf("web-%c", 'a'+i), int64(i+1), fmt.Sprint(i)))
	}
	c := revision.Changes{Current: history[0], Update: history[13]}
	c.Prune(history, limitOf(t, d), slices.Values(values(d, "pods")))
	if c.Any() != (len(c.Delete) > 0) {
		t.Errorf("%s: Any is %v", d.Pos, c.Any())
	}
	return c.String() + "\n"
}

// TestEqual shows in testdata/equal.txt which templates are equal.
func TestEqual(t *testing.T) {
	datadriven.RunTest(t, "testdata/equal.txt", func(t *testing.T, d *datadriven.TestData) string {
		a, b, _ := strings.Cut(d.Input, "\n")
		equal, err := revision.Equal(stored("a", wrap(a)), stored("b", wrap(b)))
		if err != nil {
			t.Fatal(err)
		}
		if other, err := revision.Equal(stored("b", wrap(b)), stored("a", wrap(a))); err != nil || other != equal {
			t.Errorf("%s: the other way round it is %t, %v", d.Pos, other, err)
		}
		return fmt.Sprintln(equal)
	})
}

// TestBytes shows in testdata/data.txt the data of templates, and what is made of them.
func TestBytes(t *testing.T) {
	datadriven.RunTest(t, "testdata/data.txt", func(t *testing.T, d *datadriven.TestData) string {
		switch d.Cmd {
		case "template":
			if _, err := revision.Template([]byte(d.Input)); err != nil {
				return err.Error() + "\n"
			}
			return "can be read\n"
		case "hash":
			var count *int32
			for _, value := range values(d, "count") {
				count = new(int32(patches.Number(t, value)))
			}
			return revision.Hash(golden(t, values(d, "of")[0]), count) + "\n"
		case "matches", "name", "short", "advance":
			return patches.EachLine(d.Input, func(line string) string { return ofLine(t, d.Cmd, strings.Fields(line)) })
		}
		return dataOf(t, d)
	})
}

// ofLine shows what is said of the words of a line, of which "" is empty.
func ofLine(t *testing.T, command string, words []string) string {
	for i, word := range words {
		words[i] = strings.ReplaceAll(word, `""`, "")
	}
	switch command {
	case "matches":
		return fmt.Sprint(revision.Matches(words[0], words[1]))
	case "name":
		return revision.Name(words[0], words[1])
	case "short":
		return strconv.Quote(revision.ShortHash(words[0]))
	}
	var p revision.Progress
	if _, err := fmt.Sscan(strings.Join(words, " "), &p.Wanted, &p.Updated, &p.Behind); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(p.MayAdvance())
}

// dataOf shows the data of a template, which are those of the template that is read from them.
func dataOf(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	data, err := revision.Data(patches.Object[corev1.PodTemplateSpec](t, d.Input))
	if err != nil {
		t.Fatal(err)
	}
	if back, err := revision.Data(template(t, data)); err != nil || string(back) != string(data) {
		t.Errorf("%s: decoded and encoded again: %s, error %v", d.Pos, back, err)
	}
	return string(data) + "\n"
}
