package oidc_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/oidc"
)

// A job of GitLab CI (docs.gitlab.com, "OpenID Connect (OIDC) authentication using ID tokens").
func gitlab(sub string, more map[string]any) map[string]any {
	c := map[string]any{
		"sub": sub, "aud": "https://gw.example", "preferred_username": nil, "groups": nil,
		"namespace_id": "72", "namespace_path": "my-group", "project_id": "20", "project_path": "my-group/my-project",
		"user_id": "1", "user_login": "ceo", "user_email": "ceo@example.com", "pipeline_id": "574", "pipeline_source": "push",
		"job_id": "302", "ref": "main", "ref_type": "branch", "ref_path": "refs/heads/main", "ref_protected": "true",
		"runner_id": 1, "runner_environment": "self-hosted", "sha": "714a629c0b401fdce83e847fc9589983fc6f46bc",
	}
	maps.Copy(c, more)
	return c
}

// A job of GitHub Actions (docs.github.com, "OpenID Connect reference").
func github(sub string, more map[string]any) map[string]any {
	c := map[string]any{
		"sub": sub, "aud": "https://gw.example", "preferred_username": nil, "groups": nil,
		"repository": "octo-org/octo-repo", "repository_id": "74", "repository_owner": "octo-org", "repository_owner_id": "65",
		"repository_visibility": "private", "actor": "octocat", "actor_id": "12", "workflow": "example-workflow",
		"head_ref": "", "base_ref": "", "event_name": "workflow_dispatch", "ref": "refs/heads/main", "ref_type": "branch",
		"job_workflow_ref": "octo-org/octo-automation/.github/workflows/oidc.yml@refs/heads/main", "run_id": "1", "runner_environment": "github-hosted",
	}
	maps.Copy(c, more)
	return c
}

func TestNameClaim(t *testing.T) {
	p := provider(t)
	ci := func(change func(*settings.Issuer)) settings.Issuer {
		i := settings.Issuer{Name: "ci", URL: p.URL, Audience: []string{"https://gw.example"}, GroupsClaim: "sub", UserGroups: []string{
			"project_path:my-group/my-project:ref_type:branch:ref:main", "project_path:my-group/my-project:ref_type:tag:ref:v1",
			"repo:octo-org/octo-repo:ref:refs/heads/main", "repo:octo-org/octo-repo:environment:production",
			"repo:octo-org@65/octo-repo@74:ref:refs/heads/main",
		}}
		change(&i)
		return i
	}
	lab := ci(func(i *settings.Issuer) { i.NameClaim, i.UserClaim = "project_id", "project_path" })
	hub := ci(func(i *settings.Issuer) { i.NameClaim, i.UserClaim = "repository_id", "repository" })
	for name, tt := range map[string]struct {
		issuer settings.Issuer
		claims map[string]any
		want   identity.External // Subject and Name; empty: refused
		err    string
	}{
		"GitLab, a branch":          {lab, gitlab("project_path:my-group/my-project:ref_type:branch:ref:main", nil), identity.External{Subject: "project_id=20", Name: "my-group/my-project"}, ""},
		"GitLab, a tag":             {lab, gitlab("project_path:my-group/my-project:ref_type:tag:ref:v1", nil), identity.External{Subject: "project_id=20", Name: "my-group/my-project"}, ""},
		"GitLab, renamed":           {lab, gitlab("project_path:my-group/my-project:ref_type:tag:ref:v1", map[string]any{"project_path": "my-group/other"}), identity.External{Subject: "project_id=20", Name: "my-group/other"}, ""},
		"GitLab, another branch":    {lab, gitlab("project_path:my-group/my-project:ref_type:branch:ref:x", nil), identity.External{}, "gives a role"},
		"GitLab, another project":   {lab, gitlab("project_path:evil/my-project:ref_type:branch:ref:main", nil), identity.External{}, "gives a role"},
		"GitHub, a branch":          {hub, github("repo:octo-org/octo-repo:ref:refs/heads/main", nil), identity.External{Subject: "repository_id=74", Name: "octo-org/octo-repo"}, ""},
		"GitHub, an environment":    {hub, github("repo:octo-org/octo-repo:environment:production", nil), identity.External{Subject: "repository_id=74", Name: "octo-org/octo-repo"}, ""},
		"GitHub, another one's":     {hub, github("repo:evil/octo-repo:ref:refs/heads/main", nil), identity.External{}, "gives a role"},
		"GitHub, with ids":          {hub, github("repo:octo-org@65/octo-repo@74:ref:refs/heads/main", nil), identity.External{Subject: "repository_id=74", Name: "octo-org/octo-repo"}, ""},
		"GitHub, the name of old":   {hub, github("repo:octo-org@99/octo-repo@98:ref:refs/heads/main", map[string]any{"repository_id": "98"}), identity.External{}, "gives a role"},
		"GitHub, a pull request":    {hub, github("repo:octo-org/octo-repo:pull_request", nil), identity.External{}, "gives a role"},
		"the name too":              {ci(func(i *settings.Issuer) { i.NameClaim = "repository" }), github("repo:octo-org/octo-repo:ref:refs/heads/main", nil), identity.External{Subject: "repository=octo-org/octo-repo", Name: "octo-org/octo-repo"}, ""},
		"without the claim":         {lab, github("repo:octo-org/octo-repo:ref:refs/heads/main", map[string]any{"project_path": "a/b"}), identity.External{}, "no claim project_id"},
		"the claim is a list":       {lab, gitlab("project_path:my-group/my-project:ref_type:branch:ref:main", map[string]any{"project_id": []string{"20"}}), identity.External{}, "no claim project_id"},
		"an unverified address":     {ci(func(i *settings.Issuer) { i.NameClaim = "email" }), gitlab("project_path:my-group/my-project:ref_type:branch:ref:main", map[string]any{"email": "a@x"}), identity.External{}, "not verified"},
		"without sub all the same":  {lab, gitlab("", nil), identity.External{}, "who it is about"},
		"no settings: each for one": {ci(func(i *settings.Issuer) { i.UserClaim = "project_path" }), gitlab("project_path:my-group/my-project:ref_type:tag:ref:v1", nil), identity.External{Subject: "project_path:my-group/my-project:ref_type:tag:ref:v1", Name: "my-group/my-project"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got identity.External
			b := oidc.NewBearer(newSet(t, tt.issuer), func(_ context.Context, x identity.External) (policy.Principal, error) {
				got = identity.External{Subject: x.Subject, Name: x.Name}
				return policy.Principal{User: x.Name}, nil
			}, nil)
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Header.Set("Authorization", "Bearer "+p.Token(tt.claims))
			_, _, err := b.Authenticate(r)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("%v (-want +got):\n%s", err, d)
			}
			if refused, ok := errors.AsType[*identity.Refused](err); tt.err != "" && (!ok || !strings.Contains(refused.Detail, tt.err)) {
				t.Errorf("got %v, want a refusal with %q", err, tt.err)
			}
		})
	}
}
