// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// log is the audit log of the manager's requests.
func (l *live) log() []byte {
	l.Helper()
	content, err := os.ReadFile(l.control.AuditLog())
	if !os.IsNotExist(err) {
		l.must(err)
	}
	return content[:bytes.LastIndexByte(content, '\n')+1]
}

// requests are the writes in a log that the data have to expect, as note does it in memory.
func (l *live) requests(log []byte) []string {
	l.Helper()
	all := map[string]bool{}
	for line := range bytes.Lines(log) {
		var r struct {
			Verb           string
			RequestURI     string
			ObjectRef      struct{ Resource, Subresource, Namespace, Name string }
			ResponseStatus struct{ Code int }
		}
		l.must(json.Unmarshal(line, &r))
		o := r.ObjectRef
		switch {
		case !slices.Contains([]string{"create", "update", "patch", "delete"}, r.Verb), strings.Contains(r.RequestURI, "dryRun="):
		case slices.Contains([]string{"events", "leases", "customresourcedefinitions", "mutatingwebhookconfigurations", "validatingwebhookconfigurations"}, o.Resource):
		case o.Name == "kruise-webhook-certs", o.Subresource == "status" && o.Resource != "pods", strings.HasPrefix(o.Namespace, "shop-") && o.Namespace != l.namespace:
		case r.ResponseStatus.Code >= 500, r.ResponseStatus.Code == 409 && r.Verb != "create": // it is sent again
		default:
			what := o.Resource
			if o.Subresource != "" {
				what += "/" + o.Subresource
			}
			if r.Verb == "create" { // in memory it has no name
				o.Name = ""
			}
			all[strings.TrimSpace(r.Verb+" "+what+" "+o.Name)] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// wrote compares writes with those that the data expect of the release, and of a real control plane.
func (l *live) wrote(release string, written []string) {
	l.Helper()
	want := append(expected(l.T, release), expected(l.T, "live")...)
	if of := filepath.Join("live", release); exists(of) {
		want = append(want, expected(l.T, of)...)
	}
	slices.Sort(want)
	if diff := cmp.Diff(slices.Compact(want), written); diff != "" {
		l.Errorf("other writes than testdata/%s/writes.txt and those of testdata/live expect (-want +got):\n%s", release, diff)
	}
}

// exists tells whether there is such a folder of testdata.
func exists(folder string) bool {
	_, err := os.Stat(filepath.Join("testdata", folder))
	return err == nil
}
