// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// contested: another writer takes back each change of an object at once, for an hour. It is made again less and less
// often, whatever is patched or updated, and all is done a quarter of an hour after the end. (CT-12, CT-15)
func contested(t *testing.T, k *Subject, want calm) {
	rivaled(t, k, want, func() rival { return takesBack }, nil)
}

// outwritten: another writer puts another value each time that the controller writes. That is the same contest. (CT-12, CT-15)
func outwritten(t *testing.T, k *Subject, want calm) { rivaled(t, k, want, inventor, k.Trusted) }

func rivaled(t *testing.T, k *Subject, want calm, newRival func() rival, trusted map[string]string) {
	stated := stated(t)
	for _, write := range k.Writes {
		changes := strings.HasPrefix(write, "patch ") || strings.HasPrefix(write, "update ")
		if _, cannot := k.Uncontested[write]; !changes || cannot {
			continue
		}
		t.Run(write, func(t *testing.T) {
			k.play(t, func(c *Cluster) {
				after, taken := newRival().after(c.T, c.Server, c.Kube, fixture.ControllerUser, write)
				c.fail(nil, after)
				defer c.start()()
				c.kind.Create(c, name)
				c.steps(10)
				c.change(name)
				c.steps(10)
				c.minutes(40)
				before := c.perObject()
				c.minutes(20)
				c.expectStated(before, stated)
				c.expectTold(write, taken.Load())
				c.fail(nil, nil)
				c.minutes(15)
				if trusted[write] == "" {
					c.expect(name, want)
				}
			})
		})
	}
}

// expectStated checks that no request was made more often than the table of CT-12 says of this package.
func (c *Cluster) expectStated(before map[string]int, stated int) {
	c.T.Helper()
	n, most := c.perObject(), ""
	for request := range n {
		if most == "" || n[request] > n[most] {
			most = request
		}
		if late := n[request] - before[request]; n[request] > stated || late > stated/4 {
			c.T.Errorf("%s: %d requests in an hour, %d of them in its last 20 minutes; CT-12 says %d and %d at most", request, n[request], late, stated, stated/4)
		}
	}
	if events := len(c.Events.All()); events > 5*stated {
		c.T.Errorf("%d events in an hour, want %d at most", events, 5*stated)
	}
	c.T.Logf("%s: %d requests in an hour, %d of them in its last 20 minutes", most, n[most], n[most]-before[most])
}

// stated returns how many requests of one kind about one object the table of CT-12 allows in an hour. It reads the row of the
// package under test. Another writer takes back a write of the package's kinds meanwhile.
func stated(t *testing.T) int {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	root := root()
	rules, err := os.ReadFile(filepath.Join(root, "internal/controller/RULES.md"))
	if err != nil {
		t.Fatal(err)
	}
	name, err := filepath.Rel(root, dir)
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `" + regexp.QuoteMeta(filepath.ToSlash(name)) + "` \\|.*\\| (\\d+) \\|$").FindSubmatch(rules)
	if row == nil {
		t.Fatalf("the table of CT-12 has no row of %s, with the most requests that another writer causes in an hour", name)
	}
	stated, err := strconv.Atoi(string(row[1]))
	if err != nil {
		t.Fatal(err)
	}
	return stated
}

// root is the directory of the module, in which a test runs.
func root() string {
	dir, _ := os.Getwd()
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	return dir
}

// after returns what has a rival answer each write of a user, and counts the answers that changed something.
func (other rival) after(t *testing.T, api *fakecluster.Server, kube kubernetes.Interface, user, write string) (
	answer func(fakecluster.Request) error, taken *atomic.Int64) {
	taken = &atomic.Int64{}
	return func(r fakecluster.Request) error {
		if r.User == user && r.String() == write && !r.DryRun {
			written := api.NewestVersion()
			time.AfterFunc(time.Millisecond, func() {
				if takeBack(t, api, kube, &r, written, other) {
					taken.Add(1)
				}
			})
		}
		return nil
	}, taken
}

// takeBack makes the object of a write what a rival says. It does nothing if the object has changed after the version
// written, which is that of the write or later. It tells whether it has done so. It is called for each later write as
// well.
func takeBack(t *testing.T, api *fakecluster.Server, kube kubernetes.Interface, r *fakecluster.Request, written int64, rival rival) (taken bool) {
	changes := slices.DeleteFunc(api.Changes(r.Resource, api.NewestVersion()-500), func(ch fakecluster.Change) bool {
		return ch.Object.GetNamespace() != r.Namespace || ch.Object.GetName() != r.Name
	})
	if len(changes) < 2 || changes[len(changes)-1].Version > written || changes[len(changes)-1].Gone || changes[len(changes)-2].Gone {
		return false
	}
	object := &unstructured.Unstructured{Object: rival(changes[len(changes)-2].Object.DeepCopy().Object, changes[len(changes)-1].Object.DeepCopy().Object)}
	if object.Object == nil {
		return false
	}
	object.SetResourceVersion(changes[len(changes)-1].Object.GetResourceVersion())
	data, err := object.MarshalJSON()
	if err != nil {
		return false
	}
	path := "/apis/" + object.GetAPIVersion()
	if !strings.Contains(object.GetAPIVersion(), "/") {
		path = "/api/" + object.GetAPIVersion()
	}
	put := kube.CoreV1().RESTClient().Put().AbsPath(path).NamespaceIfScoped(r.Namespace, r.Namespace != "").Resource(r.Resource).Name(r.Name)
	err = put.SubResource(strings.FieldsFunc(r.Subresource, func(c rune) bool { return c == '/' })...).SetHeader("Content-Type", "application/json").
		Body(data).Do(t.Context()).Error()
	if err != nil && !apierrors.IsConflict(err) { // a conflict is one of several changes that came at the same time
		t.Errorf("take back %s %s: %v", r.String(), r.Name, err)
	}
	return err == nil
}

// seldom is how often a write is taken back that nothing need be said about.
const seldom = 8

// expectTold checks that an event, or the object, says that a write is taken back each time. One that waits has not failed.
func (c *Cluster) expectTold(write string, taken int64) {
	c.T.Helper()
	for _, event := range c.Events.All() {
		if strings.Contains(event, "the next one waits") {
			c.T.Errorf("an event takes a write that waits for one that has failed: %s", event)
			break
		}
	}
	said := slices.ContainsFunc(c.Events.All(), func(event string) bool { return strings.Contains(event, "Warning Contested: ") })
	if taken >= seldom && !said && !strings.Contains(c.about(), "whenever it is put back") {
		c.T.Errorf("%s was taken back %d times, and neither an event nor the object says that another writer does so", write, taken)
	}
}
