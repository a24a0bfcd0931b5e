// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/podwright/podwright/examples/kit/permissions"
)

// everything tells whether the flags ask for all tests.
func everything() bool {
	all := true
	flag.Visit(func(f *flag.Flag) {
		all = all && !slices.Contains([]string{"test.run", "test.skip", "test.short", "test.list"}, f.Name)
	})
	return all
}

// Judge compares what a program has asked of the API server, as an audit log tells it, with the rights that it states.
type Judge struct {
	program, user string
	parts         []permissions.Part
	used          map[string]bool // "PART: VERB RESOURCE"
	outside       map[string]bool // requests that no right covers
	// forbidden are requests that the API server has not authorized, and authorized what it has, as "VERB RESOURCE by AGENT".
	forbidden, authorized map[string]bool
}

// NewJudge returns a judge of a program, whose name begins its user agents, with the rights of its parts. A request
// counts for the part that its user agent names. Those of "caches", and of a program that has no part of the name "",
// count for all parts.
func NewJudge(program, user string, parts []permissions.Part) *Judge {
	return &Judge{program: program, user: user, parts: parts, used: map[string]bool{}, outside: map[string]bool{},
		forbidden: map[string]bool{}, authorized: map[string]bool{}}
}

// Read takes note of all requests in an audit log.
func (j *Judge) Read(log []byte) error {
	for line := range bytes.Lines(log) {
		request, err := parseRequest(line)
		if err != nil {
			return err
		}
		if request.User.Username == j.user && strings.HasPrefix(request.UserAgent, j.program) {
			j.hear(request)
		}
	}
	return nil
}

func (j *Judge) hear(r request) {
	asked := fmt.Sprintf("%s by %s", r.what(), r.UserAgent)
	if r.ObjectRef.Resource == "" {
		asked = fmt.Sprintf("%s %s by %s", r.Verb, r.RequestURI, r.UserAgent) // discovery, which is open to all
	}
	if r.Annotations["authorization.k8s.io/decision"] == "forbid" {
		j.forbidden[asked] = true
	} else {
		j.authorized[asked] = true
	}
	if r.ObjectRef.Resource == "" {
		return
	}
	verbs := []string{r.Verb}
	if r.Verb == "patch" && r.ResponseStatus.Code == 201 {
		verbs = append(verbs, "create")
	}
	if r.Verb == "watch" && strings.Contains(r.RequestURI, "sendInitialEvents=true") {
		verbs = append(verbs, "list") // what older servers are asked for first
	}
	for _, verb := range verbs {
		if !j.use(r, verb) {
			j.outside[fmt.Sprintf("not among the rights of %s: %s %s", r.UserAgent, verb, r.resource())] = true
		}
	}
}

// use finds the rights that allow a request.
func (j *Judge) use(r request, verb string) (allowed bool) {
	_, name, _ := strings.Cut(r.UserAgent, "/")
	shared := name == "caches" || !slices.ContainsFunc(j.parts, func(p permissions.Part) bool { return p.Name == name })
	for _, part := range j.parts {
		if (shared || part.Name == name) && part.Allows(verb, r.ObjectRef.APIGroup, r.resource(), r.ObjectRef.Namespace, r.ObjectRef.Name) {
			j.used[entry(part, verb, r.resource())] = true
			allowed = true
		}
	}
	return allowed
}

func entry(part permissions.Part, verb, resource string) string {
	return fmt.Sprintf("%s: %s %s", part.Name, verb, resource)
}

// Beyond returns the requests that went beyond the rights, and those that were forbidden. An API server that has just started
// forbids everything until it has read the roles; what it has allowed at another time does not count.
func (j *Judge) Beyond() []string {
	wrong := maps.Clone(j.outside)
	for asked := range j.forbidden {
		// A client that may not watch for a moment lists, and a client that may do one of both may do the other.
		watched := strings.Replace(asked, "list ", "watch ", 1)
		if !j.authorized[asked] && !j.authorized[watched] {
			wrong["forbidden: "+asked] = true
		}
	}
	return sorted(wrong)
}

// Unused returns the rights that no request has needed, except those for which a reason is given. It also returns the
// reasons that are given for no right. Both are written like "cloneset-controller: delete pods".
func (j *Judge) Unused(reasons map[string]string) []string {
	stated, wrong := map[string]bool{}, map[string]bool{}
	for _, part := range j.parts {
		for _, rule := range part.Rules {
			for _, verb := range rule.Verbs {
				for _, resource := range rule.Resources {
					stated[entry(part, verb, resource)] = true
				}
			}
		}
	}
	for right := range stated {
		if !j.used[right] && reasons[right] == "" {
			wrong["no request has needed: "+right] = true
		}
	}
	for right := range reasons {
		if !stated[right] {
			wrong["a reason for what is no right: "+right] = true
		}
	}
	return sorted(wrong)
}

func sorted(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }
