// SPDX-License-Identifier: Apache-2.0

package recreate_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// replay sends the requests of an agent of OpenKruise, as they were written down, to the status of a request. It shows what the manager has reported of
// the containers before each of them. At last it shows whether the agent was told since when the pod is out of service.
func (s *story) replay(file, name string) (reported string) {
	s.T.Helper()
	text, err := os.ReadFile("testdata/agents/" + file)
	s.Must(err)
	for line := range strings.Lines(string(text)) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		rest = strings.ReplaceAll(rest, "NOW", time.Now().UTC().Format(time.RFC3339))
		switch verb {
		case "", "#":
			continue
		case "after":
			s.Sleep(rest)
			continue
		case "restart":
			s.node.runtime[string(s.getPod("web-0").UID)+rest].exited = true
			s.node.kubelet()
			continue
		}
		r := s.get(name)
		reported += fmt.Sprintf("reported %s\n", cmp.Or(r.Annotations[syncAnnotation], "nothing"))
		if verb == "update" {
			r.Status = v1alpha1.ContainerRecreateRequestStatus{}
			s.Must(json.Unmarshal([]byte(rest), &r.Status))
			_, err = s.requests.UpdateStatus(s.T.Context(), r, metav1.UpdateOptions{})
		} else {
			_, err = s.requests.Patch(s.T.Context(), name, types.MergePatchType, []byte(rest), metav1.PatchOptions{}, "status")
		}
		s.Must(err)
		synctest.Wait()
	}
	return reported + fmt.Sprintf("told since when it is out of service: %t\n", s.get(name).Annotations[acquired] != "")
}
