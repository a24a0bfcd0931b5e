// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// discover answers what the server serves, in JSON, and whether it was asked that. It is not recorded: clients ask it at times of their own.
func (s *Server) discover(h *http.Request) (*http.Response, bool, error) {
	parts := strings.Split(strings.Trim(h.URL.Path, "/"), "/")
	var found any
	switch {
	case h.Method != http.MethodGet:
	case len(parts) == 1 && parts[0] == "api":
		found = &metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}}
	case len(parts) == 1 && parts[0] == "apis":
		found = s.groups()
	case len(parts) == 2 && parts[0] == "api":
		found = s.served(schema.GroupVersion{Version: parts[1]})
	case len(parts) == 3 && parts[0] == "apis":
		found = s.served(schema.GroupVersion{Group: parts[1], Version: parts[2]})
	}
	if list, ok := found.(*metav1.APIResourceList); found == nil || ok && len(list.APIResources) == 0 {
		return nil, false, nil
	}
	data, err := json.Marshal(found)
	return answer(h, http.StatusOK, mediaJSON, io.NopCloser(bytes.NewReader(data))), true, err
}

// groups returns the named groups, of which each prefers its most mature version.
func (s *Server) groups() *metav1.APIGroupList {
	served := map[schema.GroupVersion]bool{}
	for _, r := range s.resources {
		if r.Group != "" {
			served[r.GroupVersion()] = true
		}
	}
	versions := slices.SortedFunc(maps.Keys(served), func(a, b schema.GroupVersion) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), version.CompareKubeAwareVersionStrings(b.Version, a.Version))
	})
	list := &metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
	for _, v := range versions {
		its := metav1.GroupVersionForDiscovery{GroupVersion: v.String(), Version: v.Version}
		if last := len(list.Groups) - 1; last >= 0 && list.Groups[last].Name == v.Group {
			list.Groups[last].Versions = append(list.Groups[last].Versions, its)
			continue
		}
		list.Groups = append(list.Groups, metav1.APIGroup{Name: v.Group, Versions: []metav1.GroupVersionForDiscovery{its}, PreferredVersion: its})
	}
	return list
}

// served returns the resources of a version.
func (s *Server) served(in schema.GroupVersion) *metav1.APIResourceList {
	list := &metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: in.String()}
	for _, path := range slices.Sorted(maps.Keys(s.resources)) {
		r := s.resources[path]
		if r.GroupVersion() != in {
			continue
		}
		of := metav1.APIResource{Name: r.Name, SingularName: strings.ToLower(r.Kind), Kind: r.Kind, Namespaced: !r.ClusterScoped,
			Verbs: metav1.Verbs{"create", "delete", "get", "list", "patch", "update", "watch"}}
		list.APIResources = append(list.APIResources, of)
		if r.Status {
			of.Name, of.SingularName, of.Verbs = r.Name+"/status", "", metav1.Verbs{"get", "patch", "update"}
			list.APIResources = append(list.APIResources, of)
		}
	}
	return list
}
