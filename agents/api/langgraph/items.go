package langgraph

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/svc-gateway/svc/agents/api/rest"
	"github.com/svc-gateway/svc/agents/items"
	"github.com/svc-gateway/svc/policy"
)

// Item is an item of the store as it is shown.
type Item struct {
	Namespace []string        `json:"namespace" required:"true" nullable:"false"`
	Key       string          `json:"key" required:"true"`
	Value     json.RawMessage `json:"value" required:"true" description:"an object; credentials are redacted"`
	CreatedAt string          `json:"created_at" required:"true" format:"date-time"`
	UpdatedAt string          `json:"updated_at" required:"true" format:"date-time"`
	Score     *float64        `json:"score,omitempty" description:"searches with a text: the part of its words that the item has"`
	UserID    string          `json:"user_id" required:"true" description:"whose it is"`
}

// ItemName names an item.
type ItemName struct {
	Namespace []string `json:"namespace" required:"true" nullable:"false" description:"labels without dots"`
	Key       string   `json:"key" required:"true"`
	UserID    string   `json:"user_id,omitempty" description:"whose it is; default: the caller's"`
}

// ItemDeletion is the body of DELETE /store/items.
type ItemDeletion struct{ ItemName }

// ForceRequestBody has the body described although the method is DELETE.
func (*ItemDeletion) ForceRequestBody() {}

func (n *ItemName) ref() items.Ref {
	return items.Ref{Owner: n.UserID, Namespace: n.Namespace, Key: n.Key}
}

// ItemBody is the body of PUT /store/items.
type ItemBody struct {
	ItemName
	Value json.RawMessage `json:"value" required:"true" description:"an object"`
	TTL   *float64        `json:"ttl,omitempty" nullable:"false" description:"minutes for which it is kept; default: for ever"`
	Index json.RawMessage `json:"index,omitempty" description:"not used: searches look at all texts of a value"`
}

// ItemQuery are the query parameters of GET /store/items.
type ItemQuery struct {
	Namespace string `query:"namespace" json:"-" required:"true" description:"its labels with dots between them"`
	Key       string `query:"key" json:"-" required:"true"`
	Refresh   string `query:"refresh_ttl" json:"-" enum:"true,false,1,0" default:"true" description:"its time begins anew"`
	UserID    string `query:"user_id" json:"-" description:"whose it is; default: the caller's"`
}

// ItemSearch is the body of POST /store/items/search.
type ItemSearch struct {
	Prefix  []string       `json:"namespace_prefix,omitempty" nullable:"false" description:"labels that namespaces begin with; default: all"`
	Filter  map[string]any `json:"filter,omitempty" nullable:"false" description:"values of fields, or conditions such as {\"$gt\": 3}; there are $eq, $ne, $gt, $gte, $lt and $lte"`
	Query   string         `json:"query,omitempty" description:"words, of which a text of the value has at least one"`
	Limit   *int           `json:"limit,omitempty" default:"10" nullable:"false" description:"from 1 to 1000"`
	Offset  int            `json:"offset,omitempty" default:"0"`
	Refresh *bool          `json:"refresh_ttl,omitempty" default:"true" nullable:"false" description:"the time of what is found begins anew"`
	UserID  string         `json:"user_id,omitempty" description:"only what is this user's"`
}

// ItemsFound is the answer of POST /store/items/search.
type ItemsFound struct {
	Items []Item `json:"items" required:"true" nullable:"false"`
}

// NamespacesBody is the body of POST /store/namespaces.
type NamespacesBody struct {
	Prefix []string `json:"prefix,omitempty" nullable:"false" description:"labels that they begin with; * is any"`
	Suffix []string `json:"suffix,omitempty" nullable:"false" description:"labels that they end with; * is any"`
	Depth  *int     `json:"max_depth,omitempty" nullable:"false" description:"longer ones are cut to so many labels"`
	Limit  *int     `json:"limit,omitempty" default:"100" nullable:"false" description:"from 1 to 1000"`
	Offset int      `json:"offset,omitempty" default:"0"`
	UserID string   `json:"user_id,omitempty" description:"only this user's"`
}

// NamespacesFound is the answer of POST /store/namespaces.
type NamespacesFound struct {
	Namespaces [][]string `json:"namespaces" required:"true" nullable:"false"`
}

// itemRoutes are the endpoints of the long-term store.
func (d *dialect) itemRoutes() []rest.Route {
	faults := []int{400, 404, 413, 415, 422, 503}
	return []rest.Route{
		{
			Method: http.MethodPut, Path: "/store/items", Action: policy.Use, Summary: "Keep a value under a namespace and a key",
			Request: new(ItemBody), Success: rest.Nothing(http.StatusNoContent), Faults: append([]int{409}, faults...), Serve: d.putItem,
		},
		{
			Method: http.MethodGet, Path: "/store/items", Action: policy.Use, Summary: "Look at an item; null when there is none",
			Request: new(ItemQuery), Success: rest.JSON(new(Item)), Faults: []int{409, 422, 503}, Serve: d.getItem,
		},
		{
			Method: http.MethodDelete, Path: "/store/items", Action: policy.Use, Summary: "Delete an item",
			Request: new(ItemDeletion), Success: rest.Nothing(http.StatusNoContent), Faults: faults, Serve: d.deleteItem,
		},
		{
			Method: http.MethodPost, Path: "/store/items/search", Action: policy.Use, Summary: "Search items",
			Request: new(ItemSearch), Success: rest.JSON(new(ItemsFound)), Faults: faults, Serve: d.searchItems,
		},
		{
			Method: http.MethodPost, Path: "/store/namespaces", Action: policy.Use, Summary: "List namespaces that hold items",
			Request: new(NamespacesBody), Success: rest.JSON(new(NamespacesFound)), Faults: faults, Serve: d.listNamespaces,
		},
	}
}

func (d *dialect) shownItem(i items.Item) Item {
	return Item{Namespace: i.Namespace, Key: i.Key, Value: d.Options.Items.Show(i), CreatedAt: stamp(i.Created), UpdatedAt: stamp(i.Updated), UserID: i.Owner}
}

func (d *dialect) putItem(w http.ResponseWriter, r *http.Request) {
	var b ItemBody
	if !d.DecodeOpen(w, r, &b, d.Options.BodyBytes, membersOf[ItemBody]()) {
		return
	}
	i := items.Item{Owner: b.UserID, Namespace: b.Namespace, Key: b.Key, Value: b.Value}
	if b.TTL != nil {
		if *b.TTL <= 0 || *b.TTL > items.MaxTTL.Minutes() {
			d.Fail(w, r, rest.Invalid(fmt.Sprintf("ttl: must be more than 0 and at most %.0f minutes", items.MaxTTL.Minutes())))
			return
		}
		i.TTL = max(time.Duration(*b.TTL*float64(time.Minute)), time.Millisecond)
	}
	if err := d.Options.Items.Put(r.Context(), rest.Caller(r), i); err != nil {
		d.failKept(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (d *dialect) getItem(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	ns, err := items.ParseNamespace(q.Get("namespace"))
	if err != nil {
		d.failKept(w, r, err)
		return
	}
	refresh := q.Get("refresh_ttl")
	i, err := d.Options.Items.Get(r.Context(), rest.Caller(r), items.Ref{Owner: q.Get("user_id"), Namespace: ns, Key: q.Get("key")}, refresh != "false" && refresh != "0")
	switch {
	case errors.Is(err, items.ErrNotFound):
		rest.WriteBody(w, []byte("null")) // what the published clients take for "there is none"
	case err != nil:
		d.failKept(w, r, err)
	default:
		rest.WriteJSON(w, d.shownItem(i))
	}
}

func (d *dialect) deleteItem(w http.ResponseWriter, r *http.Request) {
	var b ItemDeletion
	if !d.DecodeOpen(w, r, &b, min(maxAssistant, d.Options.BodyBytes), membersOf[ItemDeletion]()) {
		return
	}
	if err := d.Options.Items.Delete(r.Context(), rest.Caller(r), b.ref()); err != nil {
		d.failKept(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (d *dialect) searchItems(w http.ResponseWriter, r *http.Request) {
	var b ItemSearch
	if !d.DecodeOpen(w, r, &b, min(maxAssistant, d.Options.BodyBytes), membersOf[ItemSearch]()) {
		return
	}
	q := items.Query{Owner: b.UserID, Prefix: b.Prefix, Filter: b.Filter, Text: b.Query, Limit: defaultPage, Offset: b.Offset, Renew: b.Refresh == nil || *b.Refresh}
	if b.Limit != nil {
		q.Limit = *b.Limit
	}
	found, err := d.Options.Items.Search(r.Context(), rest.Caller(r), q)
	if err != nil {
		d.failKept(w, r, err)
		return
	}
	shown := ItemsFound{make([]Item, len(found))}
	for n, f := range found {
		shown.Items[n] = d.shownItem(f.Item)
		if f.Score > 0 {
			shown.Items[n].Score = &f.Score
		}
	}
	rest.WriteJSON(w, shown)
}

// defaultNamespaces is how many namespaces are listed when nobody says.
const defaultNamespaces = 100

func (d *dialect) listNamespaces(w http.ResponseWriter, r *http.Request) {
	var b NamespacesBody
	if !d.DecodeOpen(w, r, &b, min(maxAssistant, d.Options.BodyBytes), membersOf[NamespacesBody]()) {
		return
	}
	q := items.Pattern{Owner: b.UserID, Prefix: b.Prefix, Suffix: b.Suffix, Limit: defaultNamespaces, Offset: b.Offset}
	if b.Limit != nil {
		q.Limit = *b.Limit
	}
	if b.Depth != nil {
		if q.Depth = *b.Depth; q.Depth < 1 {
			d.Fail(w, r, rest.Invalid("max_depth: must be at least 1; leave it out for whole namespaces"))
			return
		}
	}
	list, err := d.Options.Items.Namespaces(r.Context(), rest.Caller(r), q)
	if err != nil {
		d.failKept(w, r, err)
		return
	}
	if list == nil {
		list = [][]string{}
	}
	rest.WriteJSON(w, NamespacesFound{list})
}
