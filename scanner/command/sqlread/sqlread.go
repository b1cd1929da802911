// Package sqlread tells whether statements of SQL only read, by what is known to.
//
//	if reason := sqlread.Doubt(tokens); reason != "" { … }
//
// # How
//
// A statement is a list of tokens of package sqltoken. Functions, pragmas and statements of transactions are
// compared with lists of those that read.
//
// # Guarantees
//
// A function that is in no list is a doubt, whatever it is called. What a view or a function that a list
// names does within a database is not seen.
//
// # Concurrency
//
// The functions are safe for concurrent use. The package does no I/O and keeps no state.
package sqlread

import (
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
	"github.com/svc-gateway/svc/scanner/sqltoken"
)

// functions are functions of databases that neither change nor reach anything. A query that calls
// another is not said to read.
var functions = text.Words(`count sum avg min max total group_concat string_agg array_agg json_agg jsonb_agg json_object_agg jsonb_object_agg bool_and bool_or every bit_and bit_or
	stddev stddev_pop stddev_samp variance var_pop var_samp median mode percentile_cont percentile_disc corr covar_pop covar_samp approx_count_distinct any_value first last
	first_value last_value nth_value lag lead rank dense_rank row_number ntile percent_rank cume_dist
	abs ceil ceiling floor round trunc truncate sign sqrt cbrt power pow exp ln log log2 log10 mod div pi degrees radians sin cos tan asin acos atan atan2 cot greatest least random rand gcd lcm width_bucket
	length len char_length character_length octet_length bit_length lower upper initcap trim ltrim rtrim btrim lpad rpad substr substring left right mid position strpos instr locate charindex replace translate
	reverse repeat concat concat_ws split_part format quote_ident quote_literal quote_nullable ascii chr char unicode hex unhex md5 sha1 sha2 sha224 sha256 sha384 sha512 encode decode to_hex soundex difference
	regexp_replace regexp_match regexp_matches regexp_like regexp_substr regexp_count regexp_instr regexp_split_to_array regexp_split_to_table regexp_extract starts_with ends_with contains like_escape overlay printf
	string_to_array array_to_string unnest array_length array_position array_cat array_append array_remove cardinality array_upper array_lower list_value list_contains len list_agg
	now current_timestamp localtimestamp current_date current_time localtime clock_timestamp statement_timestamp transaction_timestamp timeofday sysdate getdate getutcdate curdate curtime utc_timestamp utc_date
	date time datetime timestamp julianday unixepoch strftime date_trunc date_part extract age date_diff datediff date_add date_sub dateadd date_format str_to_date from_unixtime unix_timestamp to_char to_date
	to_timestamp to_number make_date make_time make_timestamp make_interval year month day hour minute second quarter week dayofweek dayofmonth dayofyear dayname monthname weekday last_day timestampdiff timestampadd
	time_bucket epoch epoch_ms isfinite justify_days justify_hours
	coalesce nullif ifnull isnull nvl nvl2 iif if case cast try_cast convert typeof pg_typeof
	json json_extract json_extract_path json_extract_path_text jsonb_extract_path jsonb_extract_path_text json_array_length jsonb_array_length json_each jsonb_each json_each_text jsonb_each_text json_object_keys jsonb_object_keys
	json_array_elements jsonb_array_elements json_array_elements_text jsonb_array_elements_text json_object json_array json_build_object jsonb_build_object json_build_array jsonb_build_array json_typeof jsonb_typeof json_type json_valid
	json_tree json_quote json_keys json_length json_contains json_search json_value json_unquote jsonb_path_query jsonb_path_exists jsonb_pretty row_to_json to_json to_jsonb json_extract_string json_set json_remove json_group_array json_group_object
	pg_size_pretty pg_database_size pg_relation_size pg_total_relation_size pg_table_size pg_indexes_size pg_tablespace_size pg_column_size pg_get_viewdef pg_get_indexdef pg_get_constraintdef pg_get_functiondef pg_get_expr pg_get_userbyid pg_get_triggerdef
	pg_get_serial_sequence pg_backend_pid pg_is_in_recovery pg_last_xact_replay_timestamp pg_last_wal_receive_lsn pg_last_wal_replay_lsn pg_current_wal_lsn pg_wal_lsn_diff pg_postmaster_start_time pg_conf_load_time pg_blocking_pids
	pg_stat_get_activity pg_encoding_to_char pg_table_is_visible pg_function_is_visible pg_type_is_visible format_type obj_description col_description shobj_description to_regclass current_setting current_database current_schema current_schemas
	current_user session_user user database schema version inet_server_addr inet_server_port inet_client_addr txid_current_if_assigned has_table_privilege has_schema_privilege has_database_privilege pg_has_role
	connection_id last_insert_id row_count found_rows db_name object_name object_id schema_name type_name col_name serverproperty databaseproperty columnproperty objectproperty suser_name suser_sname user_name host_name app_name
	sqlite_version changes total_changes last_insert_rowid glob likely unlikely zeroblob pragma_table_info pragma_index_list pragma_table_list pragma_foreign_key_list
	generate_series range host network masklen netmask broadcast family set_masklen text abbrev tobool toint64 tostring toint32 tofloat64 todate todatetime tostartofday tostartofhour tostartofminute tostartofmonth toyyyymm tohour
	uniq uniqexact uniqcombined quantile quantiles argmin argmax topk grouparray countif sumif avgif formatreadablesize formatreadablequantity arrayjoin has empty notempty length
	in values and or not exists over on using from where select any all some case when then else union except intersect interval array row filter within by partition distinct between like ilike is lateral join as limit offset
	having set into table with recursive materialized desc asc end order group window cross inner outer full natural end rows range groups exclude collate similar to top returning qualify pivot unpivot grouping sets rollup cube
	varchar char character numeric decimal nvarchar nchar varbinary binary float double bit int integer bigint smallint tinyint number real real precision timestamptz`)

// tables are the words behind which the name of a table stands, or what is read like one.
var tables = []string{"FROM", "JOIN"}

// Doubt says why a query is not said to only read: it calls a function that is not known, locks what it
// reads, sets a variable, or reads from another host.
func Doubt(s []sqltoken.Token) string {
	named := make(map[string]bool) // what WITH names: w(a, b) AS (…)
	for i := 0; i+1 < len(s); i++ {
		t, next := s[i], s[i+1]
		switch {
		case next.Is("(") && t.Kind == sqltoken.Name:
			return "a function with a quoted name is called"
		case next.Is("(") && t.Kind == sqltoken.Word && !functions.HasFoldString(t.Text):
			if s[0].Is("WITH") && i > 0 && s[i-1].Is("WITH", "RECURSIVE", ",") && columns(s[i+1:]) {
				named[t.Text] = true
				continue
			}
			if i > 0 && s[i-1].Is("AS", ")") && columns(s[i+1:]) { // AS t(a, b)
				continue
			}
			return "the function " + strings.ToLower(t.Text) + " is not known to only read"
		case next.Is("(") && t.Kind == sqltoken.Word && i > 1 && s[i-1].Is(".") && !s[i-2].Is("PG_CATALOG", "INFORMATION_SCHEMA"):
			return "a function of a schema is called"
		case t.Is("FOR") && next.Is("UPDATE", "SHARE", "NO", "KEY"):
			return "it locks what it reads"
		case t.Is(":") && next.Is("=") && next.Start == t.End:
			return "it sets a variable"
		case t.Is(tables...) && next.Kind == sqltoken.Literal && strings.ContainsAny(next.Text, ":|"):
			return "it reads from another host"
		case t.Is("PROCEDURE") && next.Is("ANALYSE"):
			return "it calls a procedure"
		}
	}
	if last := s[len(s)-1]; last.Is(tables...) {
		return "it reads something that is not there"
	}
	return ""
}

// columns reports whether brackets hold nothing but names.
func columns(s []sqltoken.Token) bool {
	for _, t := range s[1:] {
		switch {
		case t.Is(")"):
			return true
		case t.Kind != sqltoken.Word && t.Kind != sqltoken.Name && !t.Is(","):
			return false
		}
	}
	return false
}

// Transaction reports whether a statement begins, ends or marks a transaction, and nothing else.
func Transaction(s []sqltoken.Token) bool {
	for _, t := range s[1:] {
		if !t.Is("TRANSACTION", "WORK", "READ", "ONLY", "WRITE", "ISOLATION", "LEVEL", "COMMITTED", "UNCOMMITTED", "REPEATABLE", "SERIALIZABLE", "TO", "SAVEPOINT", "AND", "CHAIN", "NO", "DEFERRED", "IMMEDIATE", "EXCLUSIVE", "WITH", "CONSISTENT", "SNAPSHOT") {
			return s[0].Is("SAVEPOINT", "RELEASE", "ROLLBACK") && t.Kind == sqltoken.Word && !s[1].Is("PREPARED", "FORCE")
		}
	}
	return !s[0].Is("START") || len(s) > 1 && s[1].Is("TRANSACTION")
}

// pragmas are those that show something, some of the table that they are given.
var (
	pragmas = text.Words(`database_list compile_options user_version page_count page_size journal_mode encoding schema_version freelist_count collation_list function_list module_list pragma_list table_list stats show_tables show_tables_expanded show_databases version database_size platform
		foreign_keys synchronous cache_size application_id auto_vacuum busy_timeout integrity_check quick_check foreign_key_check data_version locking_mode mmap_size temp_store wal_autocheckpoint`)
	pragmasOfTable = text.Words("table_info table_xinfo index_list index_info index_xinfo foreign_key_list storage_info show integrity_check quick_check foreign_key_check table_list")
)

// Pragma reports whether a pragma only shows something.
func Pragma(s []sqltoken.Token) bool {
	s = s[1:]
	if len(s) > 2 && s[1].Is(".") {
		s = s[2:]
	}
	switch len(s) {
	case 1:
		return pragmas.HasFoldString(s[0].Text)
	case 4:
		return pragmasOfTable.HasFoldString(s[0].Text) && s[1].Is("(") && s[3].Is(")") && s[2].Kind != sqltoken.Mark
	}
	return false
}
