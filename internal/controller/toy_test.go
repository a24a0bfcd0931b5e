// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/toy"
	"github.com/podwright/podwright/internal/testing/toy/client"
	"github.com/podwright/podwright/internal/testing/toy/v1alpha1"
)

// toyBubble is a server of toys.
type toyBubble struct {
	fixture.Bubble
	core kubernetes.Interface
	toys *client.Client
}

func toyShop(t *testing.T) *toyBubble {
	t.Helper()
	b := &toyBubble{Bubble: fixture.Bubble{T: t, Server: fakecluster.New(nil, fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("Toy"), "toys"))}}
	b.core, b.toys = b.Kubernetes("toy"), fixture.Connect(t, b.Server, "toy", client.NewForConfig)
	return b
}

// runToys runs the controller.
func (b *toyBubble) runToys(o toy.Options) podwright.Controller[toy.Snapshot, toy.Plan] {
	b.Helper()
	o.Kubernetes, o.Toy = b.core, b.toys
	toys, err := toy.New(o)
	b.Must(err)
	b.Go(toys.Run)
	return toys
}

// The toy kind, which follows the check-list of CONTRIBUTING, runs. Events reach the object that they concern and no other, and the status
// follows. A plan that is made then is what the status says.
func TestToyKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, ctx := toyShop(t), t.Context()
		toys := b.runToys(toy.Options{})
		ofToys, pods := b.toys.Toys("shop"), b.core.CoreV1().Pods("shop")
		_, err := ofToys.Create(ctx, &v1alpha1.Toy{ObjectMeta: metav1.ObjectMeta{Name: "blocks"}}, metav1.CreateOptions{})
		b.Must(err)
		_, err = pods.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "red", Labels: map[string]string{"toy": "blocks"}},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx"}}}}, metav1.CreateOptions{})
		b.Must(err)
		version := ""
		for _, step := range []struct {
			patch        string
			subresources []string
			want         int32
		}{
			{`{}`, nil, 1},
			{`{"status":{"message":"a heartbeat"}}`, []string{"status"}, 1},
			{`{"metadata":{"labels":{"toy":"balls"}}}`, nil, 0},
		} {
			_, err := pods.Patch(ctx, "red", types.StrategicMergePatchType, []byte(step.patch), metav1.PatchOptions{}, step.subresources...)
			b.Must(err)
			b.Sleep(time.Minute) // the cache follows
			got, err := ofToys.Get(ctx, "blocks", metav1.GetOptions{})
			if err != nil || got.Status != (v1alpha1.ToyStatus{ObservedGeneration: 1, Pods: step.want}) {
				t.Errorf("after %s: error %v, status %+v, want %d pods", step.patch, err, got.Status, step.want)
			}
			if step.subresources != nil && got.ResourceVersion != version {
				t.Error("a change of what is not declared is written about")
			}
			version = got.ResourceVersion
			if next, err := toys.Plan(ctx, types.NamespacedName{Namespace: "shop", Name: "blocks"}); err != nil || next.Status != got.Status {
				t.Errorf("after %s: error %v, and it would write %+v", step.patch, err, next)
			}
		}
		b.Stop()
	})
}

// The check-list of CONTRIBUTING names these files of a kind. The toy has each, or its part of one that has more. It stands in no area.
// So what a real kind has in examples is in a test there, and its row of the README is in testdata.
var listed = map[string]string{
	"AREA/v1alpha1/KIND_types.go":     "v1alpha1/toy_types.go", // types are not counted
	"AREA/KIND/plan.go":               "plan.go",
	"AREA/KIND/controller.go":         "controller.go",
	"AREA/KIND/KIND_test.go":          "toy_test.go",
	"examples/manager/app/AREA.go":    "../../../examples/manager/app/toy_test.go",
	"examples/tests/e2e/KIND_test.go": "../../../examples/tests/e2e/toy_test.go",
	"README.md":                       "testdata/README.md",
}

// What a kind may cost: files, and lines of code or text in them. Empty lines, comments and imports do not count, and neither do types and what
// is generated.
const mostFiles, mostLines = 6, 150

func TestCheckList(t *testing.T) {
	const toys = "../testing/toy/"
	contributing, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(contributing), "\n## Adding a controller\n")
	list, _, _ = strings.Cut(list, "\nA list of kinds")
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^[0-9]+\\. `([A-Za-z0-9_/]+\\.[a-z]+)`:").FindAllStringSubmatch(list, -1) {
		named[m[1]] = true
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(listed)), slices.Sorted(maps.Keys(named))); diff != "" {
		t.Errorf("files of the check-list (-of the toy +named by a step):\n%s", diff)
	}
	files, lines := 0, 0
	for step, file := range listed {
		content, err := os.ReadFile(toys + file)
		if err != nil {
			t.Errorf("%s: %v", step, err)
			continue
		}
		if strings.Contains(step, "v1alpha1") {
			continue
		}
		files++
		n := cost(file, string(content))
		t.Logf("%s: %d lines", step, n)
		lines += n
	}
	if files > mostFiles || lines > mostLines {
		t.Errorf("a kind costs %d files and %d lines, want at most %d and %d", files, lines, mostFiles, mostLines)
	}
	t.Logf("a kind costs %d files and %d lines", files, lines)
	for _, pattern := range []string{"*.go", "testdata/*"} {
		found, err := filepath.Glob(toys + pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range found {
			if name := strings.TrimPrefix(filepath.ToSlash(file), toys); !slices.Contains(slices.Collect(maps.Values(listed)), name) {
				t.Errorf("the toy has %s, for which the check-list has no step", name)
			}
		}
	}
}

// cost counts the lines of a file that have code, or text, between marks if there are some.
func cost(name, text string) (lines int) {
	if path.Ext(name) == ".go" {
		_, text, _ = strings.Cut(text, "\n)\n") // what follows the imports
	}
	if _, after, marked := strings.Cut(text, "begins here"); marked {
		_, after, _ = strings.Cut(after, "\n")
		text, _, _ = strings.Cut(after, "ends here")
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			lines++
		}
	}
	return lines
}

// CT-17: a user who changes an object after a restart does not wait until the controller has looked at all others.
func TestChangeAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := toyShop(t)
		users := fixture.Connect(t, b.Server, "user", client.NewForConfig)
		name := func(i int) string { return fmt.Sprintf("toy-%02d", i) }
		for i := range 20 {
			_, err := users.Toys("shop").Create(t.Context(), &v1alpha1.Toy{ObjectMeta: metav1.ObjectMeta{Name: name(i)}}, metav1.CreateOptions{})
			b.Must(err)
		}
		var order []string // in which toys get their status
		changed := ""
		b.FailBefore(func(r fakecluster.Request) error {
			if r.User != "toy" || r.Subresource != "status" {
				return nil
			}
			if order = append(order, r.Name); len(order) > 1 {
				return nil
			}
			changed = name(19)
			if r.Name == changed {
				changed = name(18)
			}
			_, err := users.Toys("shop").Patch(t.Context(), changed, types.MergePatchType, []byte(`{"metadata":{"labels":{"changed":"now"}}}`), metav1.PatchOptions{})
			time.Sleep(time.Second) // in the time of the bubble: the controller's cache follows
			return err
		})
		b.runToys(toy.Options{ControllerOptions: podwright.ControllerOptions{Workers: 1}})
		time.Sleep(time.Minute)
		if len(order) < 20 || slices.Index(order, changed) != 1 {
			t.Errorf("the user changed %s while the first toy got its status; they got it in the order %v", changed, order)
		}
		b.Stop()
	})
}
